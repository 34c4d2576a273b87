"""What all HTML pages share: rendering, forms, translations."""
