// A labelled list to choose from, the browser's own.
export default {
  template: `
    <label class="field">
      <span>{{ label }}</span>
      <select :value="value" :name="name" :aria-label="label" @change="$emit('choose', $event.target.value)">
        <option v-for="[key, text] in options" :key="key" :value="key">{{ text }}</option>
      </select>
    </label>`,
  props: { label: String, name: String, value: String, options: Array },
  emits: ["choose"],
};
