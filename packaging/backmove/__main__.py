import sys

from backmove import main

sys.exit(main())
