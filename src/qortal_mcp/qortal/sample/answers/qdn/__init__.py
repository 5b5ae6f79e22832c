"""QDN of the sample chain: publications, the listing of resources, their content."""
