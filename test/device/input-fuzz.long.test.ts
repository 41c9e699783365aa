import { describeInputFuzz } from './input-fuzz.ts';

describeInputFuzz({ messages: 600, files: 120 });
