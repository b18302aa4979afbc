"""Mining campaigns: plan, progress, result, files and pages."""
