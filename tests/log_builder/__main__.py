"""Write the demo's files anew."""

import shutil

from tests.log_builder import demo_sessions
from unspool.demo import FILES

shutil.rmtree(FILES, ignore_errors=True)
for session in demo_sessions():
    session.write(FILES)
