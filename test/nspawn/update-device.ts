/** A device for the tests of the updater, which needs no sound card and no service. */
export const DEVICE_CONFIG = {
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtt://127.0.0.1:1883' },
  lanes: [
    {
      capture: { driver: 'command', command: ['/usr/bin/node', '/usr/local/lib/microphone.cjs'] },
      playback: { driver: 'file', path: '/var/lib/dragoman/spoken.wav' },
      source: 'en',
      targets: ['es'],
      echo: 'off',
    },
  ],
};

/** A microphone in a quiet room: noise that is not speech, at 24 kHz, in a pipe like arecord's. */
export const MICROPHONE = `const startedAt = performance.now();
let sent = 0;
setInterval(() => {
  const due = Math.floor((performance.now() - startedAt) * 24) - sent;
  const pcm = Buffer.alloc(2 * due);
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(Math.round((Math.random() - 0.5) * 60), at);
  sent += due;
  process.stdout.write(pcm);
}, 40);
`;
