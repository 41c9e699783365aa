import { describe, expect, it } from 'vitest';
import { CUT, createSoundFrames, cutSound } from '../../../src/adapters/stream/sound-frame.ts';

const noise = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (Math.imul(at + 1, 2654435761) >>> 11) & 255);

describe('a frame of captured sound', () => {
  it.each([0, 1, 2, 3, 640, 15_360, 100_000])('holds %d bytes as the service expects them', (bytes) => {
    const pcm = noise(bytes);
    expect(JSON.parse(createSoundFrames().make(pcm).toString())).toEqual({
      message_type: 'input_audio_data',
      data: { data: Buffer.from(pcm).toString('base64') },
    });
  });

  it('has only its own bytes of a larger buffer', () => {
    const frame = createSoundFrames().make(noise(100).subarray(10, 20));
    expect(JSON.parse(frame.toString()).data.data).toBe(
      Buffer.from(noise(100).subarray(10, 20)).toString('base64'),
    );
  });

  it('reuses the memory of the last one, for any length', () => {
    const frames = createSoundFrames();
    const first = frames.make(noise(960));
    expect(frames.make(noise(960).reverse())).toBe(first);
    expect(JSON.parse(first.toString()).data.data).toBe(Buffer.from(noise(960).reverse()).toString('base64'));
    for (const bytes of [30, 960, 961]) {
      const { data } = JSON.parse(frames.make(noise(bytes)).toString());
      expect(data.data).toBe(Buffer.from(noise(bytes)).toString('base64'));
    }
  });

  it('is made once for repeated sound, and again after other sound', () => {
    const frames = createSoundFrames();
    const [silence, sound] = [new Uint8Array(960), noise(960)];
    for (const pcm of [silence, silence, sound, silence]) {
      const { data } = JSON.parse(frames.make(pcm).toString());
      expect(data.data).toBe(Buffer.from(pcm).toString('base64'));
    }
    frames.forget();
    expect(JSON.parse(frames.make(silence).toString()).data.data).toBe(
      Buffer.from(silence).toString('base64'),
    );
  });

  it('is not changed by later frames once it is forgotten', () => {
    const frames = createSoundFrames();
    const kept = frames.make(noise(960));
    const before = Buffer.from(kept);
    frames.forget();
    frames.make(noise(960).reverse());
    expect(kept.equals(before)).toBe(true);
  });
});

describe('sound in a frame of the service', () => {
  const base64 = (bytes: number): string => Buffer.from(noise(bytes)).toString('base64');
  const cutOut = (text: string) => cutSound(Buffer.from(text));

  it.each([1500, 1501, 1502, 9600])('is cut out of the frame, all %d bytes', (bytes) => {
    const frame = {
      message_type: 'output_audio_data',
      data: { language: 'es', data: base64(bytes), n: 'ñ' },
    };
    for (const text of [JSON.stringify(frame), JSON.stringify(frame, null, 2)]) {
      const cut = cutOut(text);
      expect(cut?.sound.equals(noise(bytes))).toBe(true);
      expect(JSON.parse(cut?.text ?? '')).toEqual({ ...frame, data: { ...frame.data, data: CUT } });
    }
  });

  it.each([
    ['a short one', `{"data":{"data":"${base64(300)}"}}`],
    ['nothing of that name', `{"data":{"sound":"${base64(1500)}"}}`],
    ['digits written as escapes', `{"data":{"data":"${'\\u0041\\/'.repeat(300)}"}}`],
    ['a message within a text', JSON.stringify({ data: JSON.stringify({ data: base64(1500) }) })],
    ['invalid digits', `{"data":{"data":"${base64(1500)}\u0007AAA"}}`],
    ['one character too many', `{"data":{"data":"${base64(1500)}\u0007AAAA"}}`],
    ['letters of other kinds', `{"data":{"data":"${base64(1500)}ñandú"}}`],
    ['an end in its middle', `{"data":{"data":"${base64(1501)}${base64(1500)}"}}`],
    ['no closing quote', `{"data":{"data":"${base64(1500)}`],
    ['the mark itself in it', `{"data":{"more":{"data":"${base64(1500)}"},"data":"${CUT}"}}`],
  ])('is left to the ordinary parser when there is %s', (_, text) => {
    expect(cutOut(text)).toBeNull();
  });
});
