# What mod_wsgi loads: it wants a file, in which it looks for `application`.
from plimsoll.wsgi import load_application

application = load_application()
