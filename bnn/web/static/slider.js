// A labelled slider with its value beside it, the browser's own.
export default {
  template: `
    <label class="field slider">
      <span>{{ label }} <output>{{ told }}</output></span>
      <input type="range" :name="name" :min="min" :max="max" :step="step" :value="value" :aria-valuetext="told"
        @input="$emit('slide', Number($event.target.value))" />
    </label>`,
  props: { label: String, name: String, min: Number, max: Number, step: Number, value: Number, told: String },
  emits: ["slide"],
};
