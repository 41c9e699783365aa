"""A network whose far side is this machine: each packet returns late, with its two addresses exchanged.

usage: far-side.py DELAY_MS DROPPED_ADDRESS...
Exchanging the addresses keeps every checksum right. Packets to a dropped address vanish.
"""
import fcntl, heapq, ipaddress, os, select, struct, sys, time

delay = float(sys.argv[1]) / 1000
dropped = {ipaddress.ip_address(text).packed for text in sys.argv[2:]}
tun = os.open("/dev/net/tun", os.O_RDWR)
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", b"far", IFF_TUN | IFF_NO_PI))
waiting = []
count = 0
while True:
    pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    if select.select([tun], [], [], pause)[0]:
        packet = os.read(tun, 65536)
        at, size = (12, 4) if packet[0] >> 4 == 4 else (8, 16)
        source, target = packet[at : at + size], packet[at + size : at + 2 * size]
        # Multicast (IPv6 neighbours and routers) has no place here.
        if target not in dropped and not ipaddress.ip_address(target).is_multicast:
            count += 1
            returned = packet[:at] + target + source + packet[at + 2 * size :]
            heapq.heappush(waiting, (time.monotonic() + delay, count, returned))
    while waiting and waiting[0][0] <= time.monotonic():
        os.write(tun, heapq.heappop(waiting)[2])
