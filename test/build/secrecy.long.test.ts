import { describeSecrecy } from './secrecy.ts';

const EACH = ['dragoman', 'backend', 'emulator'] as const;

describeSecrecy({ running: EACH, loading: EACH, sections: ['http', '*', 'HTTP,net,tls,stream'] });
