// SPDX-License-Identifier: Apache-2.0
/** A reporter of node:test: a line of JSON for each test that failed, with its file. */
import { basename } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

export default async function* failuresReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:fail') continue;
    const { name, file, todo } = event.data;
    if (todo !== undefined) continue;
    yield `${JSON.stringify({ file: basename(file ?? name), name })}\n`;
  }
}
