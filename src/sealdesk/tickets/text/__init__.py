"""Text that people wrote: Markdown, links and mentions."""
