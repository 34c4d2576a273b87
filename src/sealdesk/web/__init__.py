"""The HTTP layer: requests, responses, routes, HTML pages and the OpenAPI document."""
