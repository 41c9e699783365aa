/** One control of a sound card, as `amixer scontents` prints it. */
export interface MixerControl {
  readonly name: string;
  /** Loudest channel in percent; null if the control has no such volume or switch. */
  readonly playback: { readonly percent: number | null; readonly on: boolean | null } | null;
  readonly capture: { readonly percent: number | null; readonly on: boolean | null } | null;
}

/** Parses the output of `amixer scontents`. */
export function parseMixer(text: string): MixerControl[] {
  return text
    .split(/^(?=Simple mixer control )/m)
    .flatMap((block) => {
      const name = /^Simple mixer control '(.*)',\d+/.exec(block)?.[1];
      return name === undefined ? [] : [readControl(name, block)];
    })
    .filter(({ playback, capture }) => playback !== null || capture !== null);
}

function readControl(name: string, block: string): MixerControl {
  const channels = [...block.matchAll(/^ {2}[\w -]+: (.*\[.*\].*)$/gm)].map(([, rest = '']) => rest);
  const side = (direction: 'Playback' | 'Capture'): MixerControl['playback'] => {
    // Such as "Playback 26 [84%] [-4.50dB] [on] Capture 10 [50%] [off]"; a volume for both directions names neither of them.
    const other = direction === 'Playback' ? 'Capture' : 'Playback';
    const capabilities = /^ {2}Capabilities: (.*)$/m.exec(block)?.[1] ?? '';
    const letter = direction === 'Playback' ? 'p' : 'c';
    const has = new RegExp(`(^| )(${letter}(volume|switch)|volume|switch)`).test(capabilities);
    if (!has) return null;
    const parts = channels.map((channel) => {
      const own = channel.includes(direction) ? (channel.split(direction)[1] ?? '') : channel;
      return own.split(other)[0] ?? '';
    });
    const percents = parts.flatMap((part) =>
      [...part.matchAll(/\[(\d+)%\]/g)].map((match) => Number(match[1])),
    );
    const switches = parts.flatMap((part) =>
      [...part.matchAll(/\[(on|off)\]/g)].map((match) => match[1] === 'on'),
    );
    if (percents.length === 0 && switches.length === 0) return null;
    return {
      percent: percents.length === 0 ? null : Math.max(...percents),
      on: switches.length === 0 ? null : switches.some(Boolean),
    };
  };
  return { name, playback: side('Playback'), capture: side('Capture') };
}
