"""How API keys are used: recorded in batches, shown as charts."""
