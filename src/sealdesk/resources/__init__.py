"""How the API represents resources, and merge patches of them."""
