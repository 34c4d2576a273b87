/** Made from the OpenAPI document by `python -m tests.typescript`. */
export {};
