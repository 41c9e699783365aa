import { describeInputFuzz } from './input-fuzz.ts';

describeInputFuzz({ messages: 50, files: 10 });
