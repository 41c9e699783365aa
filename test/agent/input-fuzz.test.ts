import { describeInputFuzz } from './input-fuzz.ts';

describeInputFuzz({ messages: 150, files: 30 });
