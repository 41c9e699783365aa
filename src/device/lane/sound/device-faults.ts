import type { DeviceFaults } from '../state/state-parts.ts';
import type { StepContext } from '../state/step-context.ts';

/** A device has failed, or its failure has changed. The event is published once for each message. */
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

/** The device works, or is not needed any more. */
export function forgetDeviceFault(context: StepContext, device: keyof DeviceFaults): void {
  const { deviceFaults } = context.state;
  if (deviceFaults[device] === null) return;
  context.set({ deviceFaults: { ...deviceFaults, [device]: null } });
}

/** A device that is neither microphone nor loudspeaker works again. */
export function onDeviceBack(context: StepContext, device: keyof DeviceFaults): void {
  if (context.state.deviceFaults[device] === null) return;
  forgetDeviceFault(context, device);
  context.notify('audio_back', { device });
}
