// Builds the smallest valid document that contains the value at a path, and one in which every member has a value.
import { ITEM, OTHER } from './paths.mjs';
import { tagOf, valueOf } from './values.mjs';

// Members that a type needs to make sense, although all its members are optional.
const needed = {
  GenerateContentResponse: ['candidates'], Candidate: ['content', 'finishReason'], Content: ['role', 'parts'], Part: ['text'],
  FunctionCall: ['args', 'name'], FunctionResponse: ['name', 'response'], FunctionDeclaration: ['name', 'description'],
  Blob_2: ['mimeType', 'data'], FileData: ['mimeType', 'fileUri'], ExecutableCode: ['language', 'code'], CodeExecutionResult: ['outcome', 'output'],
  FunctionResponseBlob: ['mimeType', 'data'], FunctionResponseFileData: ['mimeType', 'fileUri'], Transcription: ['text'],
  ToolCall: ['toolType', 'args'], ToolResponse: ['toolType', 'response'], Schema: ['type'], PartialArg: ['stringValue', 'jsonPath'],
  Delta: ['content'], 'ChatCompletionChunk.Choice.Delta.ToolCall': ['id', 'type', 'function'],
  'ChatCompletionChunk.Choice.Delta.ToolCall.Function': ['name', 'arguments'],
  ChatCompletionAssistantMessageParam: ['content'], ResponseCreateParamsBase: ['model', 'input'],
  'ChatCompletionContentPart.File.File': ['file_data', 'filename'], EasyInputMessage: ['type'],
};
// Members of which only one may be present: the first that is needed, unless the path asks for another or for one that depends on it.
const oneOf = {
  Part: { among: ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'audioTranscription'],
    beside: { videoMetadata: 'fileData', mediaResolution: 'inlineData', mediaProcessing: 'inlineData' } },
  FunctionCall: { among: ['args', 'partialArgs'], beside: {} },
  PartialArg: { among: ['boolValue', 'nullValue', 'numberValue', 'stringValue'], beside: {} },
};
// For a union: the type that a plain document has.
const usual = /^(User|BetaUser|ChatCompletionUser)MessageParam$|^EasyInputMessage$|(^|\.)(Beta)?(TextBlock(Param)?|ResponseInputText|ResponseOutputText|ChatCompletionContentPartText|Text)$|^ResponseOutputMessage$|FunctionTool|^(Beta)?Tool$/;

// The ordinary words of an enum.
const plainWord = /^(assistant|auto|completed|end_turn|in_progress|object|STOP|stop|text|user)$/;
// Required members that are null unless something is wrong, or another member has the content.
const nullByDefault = /^(error|incomplete_details|refusal|stop_details|stop_sequence)$/;

// The remaining steps for a value beside the path.
const ASIDE = [];

class Builder {
  // `hasAll`: the value at the path gets all its members.
  constructor({ hasAll = false } = {}) {
    this.hasAll = hasAll;
  }

  // `steps` is the rest of the path; `path` is the current place; `around` are the enclosing objects.
  make(shape, steps, name, path, around = []) {
    switch (shape.kind) {
      case 'object': return this.makeObject(shape, steps, name, path, around);
      case 'list': return this.makeList(shape, steps, name, path, around);
      case 'union': {
        const [step, ...rest] = steps;
        if (typeof step === 'number') return this.make(shape.alternatives[step], rest, name, path, around);
        return this.make(this.choose(shape, name, this.isFull(steps), around), steps, name, path, around);
      }
      case 'word': return shape.value;
      default: return valueOf(shape.kind, name, path);
    }
  }

  isFull(steps) {
    return this.hasAll && steps.length === 0 && steps !== ASIDE;
  }

  // Chooses null for a nullable object, unless all members are wanted.
  choose({ alternatives }, name, isFull, around) {
    const nothing = alternatives.find((it) => it.kind === 'null');
    const fresh = alternatives.filter((it) => it !== nothing && !(it.kind === 'object' && around.includes(it)));
    const best = fresh.find((it) => usual.test(it.name) || plainWord.test(it.value)) ?? fresh[0] ?? nothing ?? alternatives[0];
    return nothing && (nullByDefault.test(name) || (best.kind === 'object' && !isFull)) ? nothing : best;
  }

  makeList(shape, steps, name, path, around) {
    if (steps.length === 0 && shape.of.kind === 'object' && around.includes(shape.of)) return [];
    return [this.make(shape.of, steps[0] === ITEM ? steps.slice(1) : steps, name, `${path}/0`, around)];
  }

  makeObject(shape, steps, name, path, around) {
    const [step, ...rest] = steps;
    const aside = this.isFull(steps) ? steps : ASIDE;
    const inside = [...around, shape];
    const made = {};
    for (const member of shape.members) {
      const isStep = member.name === step;
      if (!isStep && !this.wants(shape, member, steps, around)) continue;
      made[member.name] = this.make(member.shape, isStep ? rest : aside, member.name, `${path}/${member.name}`, inside);
    }
    if (shape.rest && (step === OTHER || shape.members.length === 0)) {
      const key = `key_${tagOf(`${path}/*`)}`;
      made[key] = this.make(shape.rest, step === OTHER ? rest : aside, `${name}{}`, `${path}/*`, inside);
    }
    return made;
  }

  wants(shape, member, steps, around) {
    const choice = oneOf[shape.name];
    if (choice?.among.includes(member.name)) {
      const plain = choice.beside[steps[0]] ?? needed[shape.name][0];
      return choice.among.includes(steps[0]) ? false : member.name === plain;
    }
    if (!member.isOptional || needed[shape.name]?.includes(member.name)) return true;
    return this.isFull(steps) && !around.includes(shape) && around.length < 12;
  }
}

export const makeDocument = (root, steps, options) => new Builder(options).make(root, steps, '', '');
