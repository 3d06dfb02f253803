// SPDX-License-Identifier: Apache-2.0
import { MessageReader } from '../protobuf/reader.ts';
import type { Status, StatusCause } from './kube-error.ts';

/**
 * Reads a `metav1.Status` in protobuf. Errors arrive in the form that the client requested. @throws
 * SyntaxError
 */
export function readStatusMessage(raw: Uint8Array): Status {
  const status: { -readonly [key in keyof Status]: Status[key] } = {};
  const fields = new MessageReader(raw);
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 3) status.message = fields.string();
    else if (field === 4) status.reason = fields.string();
    else if (field === 5) status.details = readDetails(fields.message());
    else if (field === 6) status.code = fields.integer();
    else fields.skip();
  }
  return status;
}

function readDetails(fields: MessageReader): NonNullable<Status['details']> {
  const causes: StatusCause[] = [];
  let retryAfterSeconds = 0;
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 4) causes.push(readCause(fields.message()));
    else if (field === 5) retryAfterSeconds = fields.integer();
    else fields.skip();
  }
  // Omits zero, as JSON does.
  return { causes, ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }) };
}

function readCause(fields: MessageReader): StatusCause {
  const cause: { -readonly [key in keyof StatusCause]: StatusCause[key] } = {};
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) cause.reason = fields.string();
    else if (field === 2) cause.message = fields.string();
    else if (field === 3) cause.field = fields.string();
    else fields.skip();
  }
  return cause;
}
