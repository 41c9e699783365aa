/** A keyboard of the kernel, made through /dev/uinput: it needs ioctl, which Node does not have and Python has. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const SCRIPT = `
import fcntl, glob, os, struct, sys, time
fd = os.open('/dev/uinput', os.O_WRONLY)
fcntl.ioctl(fd, 0x40045564, 1)
for code in map(int, sys.argv[1:]): fcntl.ioctl(fd, 0x40045565, code)
fcntl.ioctl(fd, 0x405c5503, struct.pack('4H80sI', 3, 1, 1, 1, b'dragoman test keys', 0))
fcntl.ioctl(fd, 0x5501)
name = fcntl.ioctl(fd, 0x8000552c | 64 << 16, bytes(64)).rstrip(bytes(1)).decode()
for attempt in range(50):
    found = glob.glob('/sys/devices/virtual/input/%s/event*' % name)
    if found and os.path.exists('/dev/input/' + os.path.basename(found[0])): break
    time.sleep(0.1)
print('/dev/input/' + os.path.basename(found[0]), flush=True)
put = lambda *event: os.write(fd, struct.pack('llHHi', 0, 0, *event))
for line in sys.stdin:
    for value in (1, 0):
        put(1, int(line), value)
        put(0, 0, 0)
`;

export interface Keyboard {
  /** Its input device. */
  readonly path: string;
  /** Presses and releases a key. */
  press(code: number): void;
  close(): void;
}

export async function makeKeyboard(codes: readonly number[]): Promise<Keyboard> {
  const child = spawn('python3', ['-c', SCRIPT, ...codes.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for await (const path of createInterface({ input: child.stdout })) {
    return {
      path,
      press: (code) => void child.stdin.write(`${code}\n`),
      close: () => void child.kill('SIGKILL'),
    };
  }
  throw new Error('uinput made no keyboard');
}
