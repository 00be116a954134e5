"""placeholder until sim/worst_block.py is there"""

from ui.dialogs.message import MessageBox


class WorstBlock(MessageBox):
    def __init__(self, host):
        super().__init__(host, "Worst block", "")
