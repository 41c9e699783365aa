/** A device that ALSA's configuration makes: a sound server, or what an operator has written. */
export interface SoftwareDevice {
  readonly name: string;
  readonly description: string;
}

/** Parts that a configuration builds devices from; alone they make no sound, or none at the right speed. */
const PARTS = new Set([
  'null',
  'file',
  'lavrate',
  'samplerate',
  'speexrate',
  'speex',
  'oss',
  'upmix',
  'vdownmix',
  'usbstream',
]);

/** What `arecord -L` or `aplay -L` lists, without the cards' own devices and without mere parts. */
export function parseDeviceList(text: string): SoftwareDevice[] {
  const devices: { name: string; description: string }[] = [];
  for (const line of text.split('\n')) {
    const last = devices.at(-1);
    if (/^\s/.test(line)) {
      if (last?.description === '') last.description = line.trim();
    } else if (line.trim() !== '') {
      devices.push({ name: line.trim(), description: '' });
    }
  }
  return devices.filter(({ name }) => !/\bCARD=/.test(name) && !PARTS.has(name));
}
