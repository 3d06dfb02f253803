// SPDX-License-Identifier: Apache-2.0
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import { type Handler, healthz, type HttpResponse, readyz, TEXT } from './handlers.ts';

/** The sources of the endpoints. */
export interface ApplicationInit {
  readonly registry: Registry;
  /** Returns why the component is not ready, or nothing if it is. */
  readonly notReady: () => readonly string[];
  /** Returns what needs attention although the component is ready. */
  readonly warnings?: () => readonly string[];
  /** Default true. False where another port serves `/metrics`, such as one with TLS. */
  readonly withMetrics?: boolean;
}

/** Creates the routes of a port, the same for HTTP and HTTPS. */
export function createApplication(init: ApplicationInit): Express {
  const { registry, notReady, warnings = () => [] } = init;
  const metrics: Handler = async () => ({
    status: 200,
    contentType: registry.contentType,
    body: await registry.metrics(),
  });
  const app = express();
  app.disable('x-powered-by');
  app.get('/healthz', adapt(healthz));
  app.get('/readyz', adapt(readyz(notReady, warnings)));
  if (init.withMetrics !== false) app.get('/metrics', adapt(metrics));
  app.use(adapt(() => ({ status: 404, contentType: TEXT, body: 'not found\n' })));
  app.use(failed);
  return app;
}

/** Wraps a handler for express. */
function adapt(handler: Handler): RequestHandler {
  return async (_request, response) => {
    send(response, await handler());
  };
}

/** Handles errors, because express itself would send the stack trace. */
const failed: ErrorRequestHandler = (_error, _request, response, next) => {
  if (response.headersSent) {
    next(_error);
    return;
  }
  send(response, { status: 500, contentType: TEXT, body: 'internal error\n' });
};

function send(
  response: Parameters<RequestHandler>[1],
  { status, contentType, body }: HttpResponse,
): void {
  response.status(status).set('content-type', contentType);
  // Responses describe only this moment.
  response.set('cache-control', 'no-store').send(body);
}
