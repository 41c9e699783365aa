import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/adapters/audio/child/process.ts';
import { classifyStderrLine, explainEnd } from '../../../../src/adapters/audio/child/stderr-classifier.ts';

const DEVICE = { part: 'playback', name: 'hw:CARD=Speaker', program: 'aplay' } as const;

describe('a line on standard error', () => {
  it.each([
    ['aplay: main:850: audio open error: No such file or directory', 'not_found', /plug it in/],
    [
      'ALSA lib pcm.c:2664:(snd_pcm_open_noupdate) Unknown PCM hw:CARD=Speaker',
      'not_found',
      /"dragoman devices"/,
    ],
    ['aplay: main:850: audio open error: Device or resource busy', 'busy', /in use by another program/],
    ['aplay: main:850: audio open error: Permission denied', 'failed', /group "audio"/],
    ['aplay: main:850: audio open error: Operation not permitted', 'failed', /"DeviceAllow=char-alsa rw"/],
    [
      'setpriv: activate capabilities: Operation not permitted',
      'failed',
      /a sandbox forbids running "aplay" .*SystemCallFilter=/,
    ],
    ['aplay: main:850: audio open error: Host is down', 'failed', /sound server/],
    ['aplay: pcm_write:2127: write error: No such device', 'lost', /check its plug/],
    ['aplay: pcm_write:2127: write error: Input/output error', 'lost', /check its plug/],
    ['aplay: set_params:1345: Channels count non available', 'format', /write "plughw:CARD=Speaker" instead/],
    [
      'ALSA lib dlmisc.c:337:(snd_dlobj_cache_get0) Cannot open shared library libasound_module_pcm_pulse.so (/lib/alsa-lib/libasound_module_pcm_pulse.so: cannot open shared object file: No such file or directory)',
      'failed',
      /plugin of ALSA is missing; install the package "libasound2-plugins"$/,
    ],
    [
      'ALSA lib dlmisc.c:339:(snd_dlobj_cache_get0) [error.core] Cannot open shared library libasound_module_pcm_odd.so',
      'failed',
      /plugin of ALSA is missing$/,
    ],
    [
      'ALSA lib conf.c:2007:(_snd_config_load_with_include) _toplevel_:5:0:Unexpected char',
      'failed',
      /repair the file that it names/,
    ],
    ['aplay: main:831: audio open error: Invalid argument', 'failed', /"hw:CARD=Speaker" cannot be opened$/],
    ['aplay: set_params:1387: Unable to install hw params:', 'format', /write "plughw:/],
    [
      'setpriv: failed to execute aplay: No such file or directory',
      'not_found',
      /install the package "alsa-utils"/,
    ],
    [
      '[../deps/mpg123/src/output/alsa.c:165] error: cannot open device default',
      'not_found',
      /called "default"/,
    ],
  ])('is understood: %s', (line, code, fix) => {
    const finding = classifyStderrLine(line, DEVICE);
    expect(finding).toMatchObject({ kind: 'fault', fault: { code } });
    expect(finding?.kind === 'fault' && finding.fault.message).toMatch(fix);
  });

  it.each([
    ['overrun!!! (at least 1234.567 ms long)', 1234.567],
    ['underrun!!! (at least 0.042 ms long)', 0.042],
    ['underrun!!!', 0],
  ])('may report lost sound: %s', (line, ms) => {
    expect(classifyStderrLine(line, DEVICE)).toEqual({ kind: 'xrun', ms });
  });

  it('may be harmless', () => {
    expect(classifyStderrLine('  rate         : 24000', DEVICE)).toBeNull();
    expect(classifyStderrLine("Playing raw data 'stdin' : Signed 16 bit Little Endian", DEVICE)).toBeNull();
  });

  it('is cleaned to plain text', () => {
    expect(plainText('a\u001b[31mb\u0000c\u00e9 \t d ')).toBe('a [31mb c d');
  });
});

describe('the reason why a child ended', () => {
  const end = { code: null, signal: null, spawnError: null };

  it.each([
    { ...end, spawnError: 'EPERM' },
    { ...end, spawnError: 'EAGAIN' },
    { ...end, signal: 'SIGSYS' as const },
  ])('is the sandbox: %j', (how) => {
    expect(explainEnd(how, null, null, DEVICE).message).toMatch(
      /a sandbox forbids running "aplay".*TasksMax=/,
    );
  });

  it('is its last fault, or otherwise the way in which it ended', () => {
    const fault = { code: 'busy', message: 'x' } as const;
    expect(explainEnd({ ...end, code: 1 }, fault, null, DEVICE)).toBe(fault);
    expect(explainEnd({ ...end, code: 3 }, null, null, DEVICE).message).toMatch(
      /exit code 3 without a message/,
    );
    expect(explainEnd({ ...end, signal: 'SIGSEGV' }, null, 'bye', DEVICE).message).toMatch(
      /by SIGSEGV after saying "bye"/,
    );
    expect(explainEnd({ ...end, spawnError: 'ENOENT' }, null, null, DEVICE).code).toBe('not_found');
    expect(explainEnd({ ...end, spawnError: 'EAGAIN' }, null, null, DEVICE).message).toMatch(
      /the system lacks the resources for it now/,
    );
  });
});
