"""The paper's tables, run again under protocols that can be trusted."""
