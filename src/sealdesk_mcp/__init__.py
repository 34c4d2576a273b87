"""`sealdesk mcp`: a server of the Model Context Protocol over stdin and stdout."""
