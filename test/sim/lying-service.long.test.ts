import { testLies } from './lying-service.ts';

testLies(
  Array.from({ length: 8 }, (_, index) => 8000 + index),
  0.5,
  1,
);
