/** A client of a Parley server: REST for its state, a WebSocket for its events. */
import { Client, type ClientOptions } from './client.js';
import { Memories, Prompts, Tasks } from './library.js';

export * from './types.js';
export { applyPatch } from './patch.js';
export { Blobs, Memories, Prompts, Tasks, type Page, type Query, type Variables, type VersionName } from './library.js';
export { SessionView, type Applied } from './view.js';
export { Live, LiveError, type LiveOptions, type SocketClass, type SocketLike } from './live.js';
export { Client, ProblemError, type Accepted, type ChatMessage, type ClientOptions } from './client.js';

/** A client with the whole library; for conversations alone, a `Client` is smaller. */
export class Parley extends Client {
  readonly prompts: Prompts;
  readonly memories: Memories;
  readonly tasks: Tasks;

  constructor(options: ClientOptions) {
    super(options);
    this.prompts = new Prompts(this.asking);
    this.memories = new Memories(this.asking);
    this.tasks = new Tasks(this.asking);
  }
}
