// SPDX-License-Identifier: Apache-2.0

/** One call as the proxy saw it. */
export interface Passed {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly client: string;
  readonly method: string;
  readonly path: string;
  /**
   * What the API server answered, even if the client did not receive it; undefined: it got no call,
   * or did not answer.
   */
  status: number | undefined;
  /** What was done to it. */
  fault: string | undefined;
}

/** Every call but the watches, in the order of their coming. */
export interface Traffic {
  begin(call: Pick<Passed, 'client' | 'method' | 'path'>): Passed;
  find(wanted: (passed: Passed) => boolean): readonly Passed[];
}

export function createTraffic(): Traffic {
  const all: Passed[] = [];
  return {
    begin: ({ client, method, path }) => {
      const passed = { at: Date.now(), client, method, path, status: undefined, fault: undefined };
      all.push(passed);
      return passed;
    },
    find: (wanted) => all.filter(wanted),
  };
}
