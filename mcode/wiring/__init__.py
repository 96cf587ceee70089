"""The one place where objects are put together: `workbench` for what outlives a session, `assembly` for one."""
