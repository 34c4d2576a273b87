/** Results and parameters, made from the OpenAPI document in `schema.ts`. */
export {};
