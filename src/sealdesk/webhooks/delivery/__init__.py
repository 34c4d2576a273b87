"""Delivery of events to webhook endpoints."""
