import { testLies } from './lying-service.ts';

testLies([8002, 8004], 1);
