/**
 * A session, built from its events. The rule: apply an event if its sequence is the last one plus one; drop it if it is less or
 * equal; if it is more, events are missing: subscribe again from this position.
 */
import { applyPatch } from './patch.js';
import type { LiveEvent, Patch, Position, Question, Session, Snapshot, Turn } from './types.js';

export type Applied = 'applied' | 'dropped' | 'gap';

export class SessionView {
  session: Session | null = null;
  readonly turns = new Map<string, Turn>();
  readonly questions = new Map<string, Question>();
  position: Position | null = null;

  /** Turns in the order of the session. */
  get ordered(): Turn[] {
    return [...this.turns.values()].sort((a, b) => a.sequence - b.sequence);
  }

  /** Loads a page of history, with the stream position at that read. */
  load(turns: Turn[], position: Position): void {
    this.turns.clear();
    for (const turn of turns) this.turns.set(turn.turn_id, turn);
    this.position = position;
  }

  apply({ event, data }: LiveEvent): Applied {
    if (event === 'session:snapshot') return this.#snapshot(data as unknown as Snapshot);
    const sequence = data.sequence;
    if (typeof sequence !== 'number' || !this.position) return 'dropped';
    if (sequence <= this.position.sequence) return 'dropped';
    if (sequence !== this.position.sequence + 1) return 'gap';
    this.position = { epoch: this.position.epoch, sequence };
    this.#take(event, data);
    return 'applied';
  }

  #snapshot(snapshot: Snapshot): Applied {
    if (snapshot.mode === 'snapshot') this.turns.clear();
    this.questions.clear();
    this.session = snapshot.session;
    for (const turn of snapshot.turns) this.turns.set(turn.turn_id, turn);
    for (const question of snapshot.questions) this.questions.set(question.tool_call_id, question);
    this.position = { epoch: snapshot.epoch, sequence: snapshot.sequence };
    return 'applied';
  }

  #take(event: string, data: Record<string, unknown>): void {
    switch (event) {
      case 'turn:start':
      case 'turn:end': {
        const turn = data.turn as Turn;
        this.turns.set(turn.turn_id, turn);
        break;
      }
      case 'turn:patch': {
        const turn = this.turns.get(String(data.turn_id));
        if (turn) applyPatch(turn, data as unknown as Patch);
        break;
      }
      case 'memory:inject:done': {
        const turn = this.turns.get(String(data.turn_id));
        if (turn) turn.memory_refs = data.memory_refs;
        break;
      }
      case 'session:updated':
        this.session = data.session as Session;
        break;
      case 'question:asked': {
        const question = data.question as Question;
        this.questions.set(question.tool_call_id, question);
        break;
      }
      case 'question:resolved':
        this.questions.delete((data.question as Question).tool_call_id);
        break;
    }
  }
}
