import { describeDemo } from './demo.ts';

describeDemo({
  rollsOver: true,
  faults: ['revoke', 'max-duration', 'network-drop', 'broker-drop', 'token-denied'],
});
