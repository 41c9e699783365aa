import type { DeviceFaults } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/** A device has failed, or fails for another reason than before: told once for each, while words say something new. */
export function noteDeviceFault(
  context: StepContext,
  device: keyof DeviceFaults,
  code: string,
  message: string,
): void {
  const { deviceFaults } = context.state;
  const known = deviceFaults[device];
  const fault = { code: `${device}_${code}`, message, at: context.now };
  if (known?.code === fault.code && known.message === message) return;
  context.set({ deviceFaults: { ...deviceFaults, [device]: fault } });
  if (known?.message !== message) context.notify('audio_lost', { device, code, message });
}

/** It works, or is not wanted any more. */
export function forgetDeviceFault(context: StepContext, device: keyof DeviceFaults): void {
  const { deviceFaults } = context.state;
  if (deviceFaults[device] === null) return;
  context.set({ deviceFaults: { ...deviceFaults, [device]: null } });
}
