/** The one queue of the daemon: jobs run one at a time, in order, and what they cause comes after them. */
export interface EventLoop {
  post(job: () => void): void;
}

export function createEventLoop(): EventLoop {
  const jobs: (() => void)[] = [];
  let running = false;
  return {
    post(job) {
      jobs.push(job);
      if (running) return;
      running = true;
      try {
        for (let next = jobs.shift(); next !== undefined; next = jobs.shift()) next();
      } finally {
        running = false;
      }
    },
  };
}
