/** The daemon's job queue: jobs run one at a time, in order, and the jobs that they post run after them. */
export interface EventLoop {
  post(job: () => void): void;
}

/** @param onDefect called with a job's exception; later jobs run all the same. Must not throw. */
export function createEventLoop(onDefect: (error: unknown) => void): EventLoop {
  const jobs: (() => void)[] = [];
  let running = false;
  const run = (job: () => void): void => {
    try {
      job();
    } catch (error) {
      onDefect(error);
    }
  };
  return {
    post(job) {
      jobs.push(job);
      if (running) return;
      running = true;
      for (let next = jobs.shift(); next !== undefined; next = jobs.shift()) run(next);
      running = false;
    },
  };
}
