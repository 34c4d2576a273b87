"""The TypeScript client: its generated sources, and how it is built and packed."""
