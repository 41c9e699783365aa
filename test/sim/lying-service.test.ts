import { testLies } from './lying-service.ts';

testLies([8008], 0.15, 1);
