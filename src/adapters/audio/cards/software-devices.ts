/** A device from ALSA's configuration: a sound server, or an operator's own definition. */
export interface SoftwareDevice {
  readonly name: string;
  readonly description: string;
}

/** Building blocks of configured devices; alone they are silent or run at the wrong speed. */
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

/** Parses the list of `arecord -L` or `aplay -L`, without the cards' own devices and without building blocks. */
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
