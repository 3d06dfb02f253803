// SPDX-License-Identifier: Apache-2.0
import type { Client, RequestInit } from '#kube/client/client.ts';

/** A client that records its requests and gives scripted answers. */
export interface RecordedClient extends Client {
  readonly requests: readonly RequestInit[];
  /** What the next requests are answered with; what throws is their error. */
  answer(by: (request: RequestInit) => unknown): void;
}

export function recordedClient(): RecordedClient {
  const requests: RequestInit[] = [];
  let answering: (request: RequestInit) => unknown = () => ({});
  return {
    requests,
    answer: (by) => {
      answering = by;
    },
    request: async <T>(request: RequestInit) => {
      requests.push(request);
      return (await answering(request)) as T;
    },
    stream: () => Promise.reject(new Error('no stream here')),
    clockOffset: () => 0,
    close: () => Promise.resolve(),
  };
}
