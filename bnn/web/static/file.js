// A labelled file to send, the browser's own; too large a file is not sent.
export default {
  template: `
    <label class="field file">
      <span>{{ label }}</span>
      <input type="file" :aria-label="label" :accept="accept" @change="send" />
    </label>`,
  props: { label: String, accept: String, url: String, most: Number },
  emits: ["refused"],
  methods: {
    async send(event) {
      const [file] = event.target.files;
      event.target.value = "";
      if (!file) return;
      const body = new FormData();
      body.append("file", file);
      if (file.size > this.most) this.$emit("refused", file.size);
      else await fetch((window.path_prefix ?? "") + this.url, { method: "POST", body });
    },
  },
};
