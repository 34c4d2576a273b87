"""Field types, merge patches, ETags and responses of the API's resources."""
