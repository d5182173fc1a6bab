from __future__ import annotations

# they import packages of other environments
collect_ignore_glob = ["peers/drivers/*_driver.py", "peers/services/*_service.py"]
