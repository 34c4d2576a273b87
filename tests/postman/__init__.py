"""The Postman collection: made from the OpenAPI document, and run by Postman's own runner."""
